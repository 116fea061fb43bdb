# frozen_string_literal: true

require "open3"

# How the extension is built, by a Cargo that only writes down what it is asked.
RSpec.describe "building" do
  let(:place) { File.realpath(Dir.mktmpdir("labkit-ratelimit-spec")) }
  let(:log) { File.join(place, "log") }
  let(:target) { File.join(place, "target") }

  after { FileUtils.rm_rf(place) }

  def checkout(name)
    root = File.join(place, name)
    %w[core/engine bindings/ruby].each do |crate|
      FileUtils.mkdir_p(File.join(root, crate))
      File.write(File.join(root, crate, "Cargo.toml"), "[package]\nname = \"crate-#{File.basename(crate)}\"\n")
    end
    FileUtils.mkdir_p(File.join(root, "ruby/ext"))
    FileUtils.cp_r(File.expand_path("../ext/labkit_ratelimit", __dir__), File.join(root, "ruby/ext"))
    root
  end

  def cargo
    library = File.join(target, "release", "liblabkit_ratelimit_native.#{RbConfig::CONFIG["SOEXT"]}")
    File.join(place, "cargo").tap do |file|
      File.write(file, <<~SH)
        #!/bin/sh
        [ "$1" = --version ] || echo "$@" >> #{log}
        mkdir -p #{File.dirname(library)} && touch #{library}
      SH
      File.chmod(0o755, file)
    end
  end

  # What Cargo was asked.
  def build(root)
    folder = File.join(root, "build")
    FileUtils.mkdir_p(folder)
    File.write(log, "")
    environment = { "CARGO" => cargo, "CARGO_TARGET_DIR" => target, "CARGO_BUILD_TARGET" => nil }
    [[RbConfig.ruby, File.join(root, "ruby/ext/labkit_ratelimit/extconf.rb")], ["make"]].each do |command|
      output, status = Open3.capture2e(environment, *command, chdir: folder)
      raise output unless status.success?
    end
    File.readlines(log).map { |line| line.split.first }
  end

  # Cargo would take another checkout's crates for this one's.
  it "builds a checkout's own crates where another one built before" do
    one, other = %w[one other].map { |name| checkout(name) }
    expect([one, one, other, other, one].map { |root| build(root) })
      .to eq([%w[clean rustc], %w[rustc], %w[clean rustc], %w[rustc], %w[clean rustc]])
    build(other)
    expect(File.readlines(log).first).to include("--package crate-engine", "--package crate-ruby", "--release", target)
  end
end
