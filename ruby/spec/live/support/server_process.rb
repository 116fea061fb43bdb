# frozen_string_literal: true

require "tempfile"

# A server in a process group of its own. What it says is kept.
class ServerProcess
  include Live

  def initialize(*command, **environment)
    @log = Tempfile.new("labkit-ratelimit-server")
    environment = { RUBYLIB: LIBRARY, RUBYOPT: nil, RAILS_ENV: "test", **environment }.transform_keys(&:to_s)
    @pid = Process.spawn(environment, RbConfig.ruby, "-S", *command, in: File::NULL, %i[out err] => @log.path, pgroup: true)
  end

  def log
    File.read(@log.path)
  end

  # Waits until the log says so.
  #
  # @return [Array<Array<String>>] what the pattern caught, each time
  def says(pattern, times: 1, within: 30)
    eventually("the server says #{pattern.inspect}", within: within) do
      must_run
      found = log.scan(pattern)
      found if found.size >= times
    end
  rescue Live::Late => e
    raise "#{e.message}; it said:\n#{log}"
  end

  # @raise [RuntimeError] if it has ended by itself
  def must_run
    return unless @pid && Process.wait(@pid, Process::WNOHANG)

    @pid = nil
    raise "the server ended; it said:\n#{log}"
  end

  # In good order, or else at once: a worker of Puma 5 and 6 may wait for ever in closing its own pipe (puma/puma#3677).
  def stop
    return unless @pid

    Process.kill("TERM", @pid)
    Timeout.timeout(3) { Process.wait(@pid) }
  rescue Timeout::Error
    Process.kill("KILL", -@pid)
    Process.wait(@pid)
  ensure
    @log.close!
  end
end
