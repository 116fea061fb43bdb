"""The judge: starts stores, calls a language's runner, compares what came back with what scenarios expect.

In: scenario files (`schema.json`) and a runner that speaks `PROTOCOL.md`. Out: verdicts as text, an exit status, results for the matrix.
It knows no limiter: what a check means stands in the scenarios alone. Python 3.11, standard library only.
"""
