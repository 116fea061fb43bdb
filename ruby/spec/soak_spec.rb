# frozen_string_literal: true

# Memory does not grow with the number of checks. Each soak has a process of its own.
RSpec.describe "memory", :timed, if: File.exist?("/proc/self/status") do
  def grown_kb(*words)
    command = [RbConfig.ruby, "-I", File.expand_path("../lib", __dir__), File.expand_path("soak/soak.rb", __dir__), *words.map(&:to_s)]
    Integer(IO.popen(command, &:read))
  end

  it "stays as it is over 1 million checks in memory" do
    expect(grown_kb("plain", 1_000_000)).to be < 5000
  end

  it "stays as it is over procs and patterns" do
    expect(grown_kb("callables", 200_000)).to be < 5000
  end

  it "stays as it is over failures" do
    expect(grown_kb("failures", 100_000)).to be < 5000
  end

  it "stays as it is on Redis" do
    expect(grown_kb("plain", 60_000, PrivateRedis.port)).to be < 5000
    expect(grown_kb("callables", 40_000, PrivateRedis.port)).to be < 5000
  end
end
