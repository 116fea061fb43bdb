# frozen_string_literal: true

require "tempfile"

# A server in a process group of its own. What it says is kept.
class ServerProcess
  include Live

  def initialize(*command, **environment)
    @log = Tempfile.new("labkit-ratelimit-server")
    environment = { RUBYLIB: Live::LIBRARIES, RUBYOPT: nil, RAILS_ENV: "test", **environment }.transform_keys(&:to_s)
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

  # In good order, or not at all.
  def stop
    return unless @pid

    Process.kill("TERM", @pid)
    Timeout.timeout(15) { Process.wait(@pid) }
  rescue Timeout::Error
    Process.kill("KILL", -@pid)
    Process.wait(@pid)
    raise "the server did not stop; it said:\n#{log}"
  ensure
    @log.close!
  end
end
