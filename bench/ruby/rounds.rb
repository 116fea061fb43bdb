# frozen_string_literal: true

# Interleaved rounds: every case once a round, in turning order, so that a noisy neighbour meets all alike.
class Rounds
  # A case: how many calls a slice makes, and what makes so many.
  Case = Struct.new(:calls, :work) do
    # A case that calls for each of `words`, so many in a slice, in turn.
    def self.for_each(words, calls)
      slices = words.each_slice(calls).to_a
      turn = -1
      new(calls, -> { yield slices[turn = (turn + 1) % slices.size] })
    end
  end
  # Of what waits for a server, whose cost changes within a second, with the processors that the two run on.
  MANY = 40
  # Of what waits for nothing.
  FEW = 4

  class << self
    # Runs one round to warm up, then `rounds`.
    #
    # @param cases [Hash{Symbol => Case}]
    # @param slices [Integer] how many make a round. Of few, none pays for what another left behind
    # @yield before each round
    def interleave(rounds, cases, slices)
      round(cases, slices)
      measured = Array.new(rounds) do
        yield if block_given?
        round(cases, slices)
      end
      new(cases.keys.to_h { |name| [name, measured.map { |one| one.fetch(name) }] })
    end

    def median(values)
      sorted = values.sort
      middle = sorted.size / 2
      sorted.size.odd? ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0
    end

    private

    # µs of this process, and of the clock, for each call of each case.
    def round(cases, slices)
      GC.start
      spent = cases.transform_values { [0.0, 0.0] }
      slices.times do |slice|
        cases.to_a.rotate(slice).each do |name, one|
          GC.start if slices == FEW
          spent[name] = spent[name].zip(cost(one)).map(&:sum)
        end
      end
      spent.to_h { |name, both| [name, both.map { |seconds| seconds * 1e6 / (slices * cases[name].calls) }] }
    end

    def cost(one)
      before = times
      one.work.call
      times.zip(before).map { |end_, start| end_ - start }
    end

    def times
      [Process::CLOCK_PROCESS_CPUTIME_ID, Process::CLOCK_MONOTONIC].map { |clock| Process.clock_gettime(clock) }
    end
  end

  def initialize(measured)
    @measured = measured
  end

  # The median of one case.
  #
  # @param kind [Symbol] `:cpu` or `:wall`
  def median(kind, name)
    self.class.median(of(kind, name))
  end

  # The median of the rounds' ratios of one case to another.
  def ratio(kind, name, other)
    combined(kind, name, other) { |one, two| one / two }
  end

  # The median of what the block makes of some cases, round by round.
  def combined(kind, *names, &block)
    self.class.median(names.map { |name| of(kind, name) }.transpose.map(&block))
  end

  private

  def of(kind, name)
    @measured.fetch(name).map { |cpu, wall| kind == :cpu ? cpu : wall }
  end
end
