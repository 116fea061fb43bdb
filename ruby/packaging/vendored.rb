# frozen_string_literal: true

require "fileutils"
require "open3"
require "pathname"

# The crates that the extension is built from, copied into the gem: a workspace of their own, with the versions that
# the repository's lock file has, and without what only tests need.
class Vendored
  CRATES = %w[core/engine core/documents core/store core/limiter bindings/ruby].freeze

  # @param repository [Pathname]
  # @param folder [Pathname] where they go; what is there is replaced
  def initialize(repository, folder)
    @repository = Pathname(repository)
    @folder = Pathname(folder)
  end

  # @return [Array<String>] every file, relative to the folder
  def write
    FileUtils.rm_rf(@folder)
    put("Cargo.toml", workspace)
    put("Cargo.lock", @repository.join("Cargo.lock").read)
    put("LICENSE", @repository.join("LICENSE").read)
    CRATES.each { |crate| copy(crate) }
    lock
    @folder.glob("**/*").select(&:file?).map { |file| file.relative_path_from(@folder).to_s }.sort
  end

  private

  def workspace
    text = @repository.join("Cargo.toml").read
    text.sub(/^members = .*$/, "members = #{CRATES.inspect}")
        .sub(/^(?:#.*\n)*default-members = .*\n/, "")
  end

  def copy(crate)
    source = @repository.join(crate)
    put("#{crate}/Cargo.toml", without_tests(source.join("Cargo.toml").read))
    source.glob("src/**/*").select(&:file?).each do |file|
      put(file.relative_path_from(@repository), file.binread)
    end
  end

  # A manifest without its sections on tests and benchmarks, which are not copied.
  def without_tests(manifest)
    kept = true
    lines = manifest.lines.select do |line|
      kept = !line.match?(/\A\[(?:dev-dependencies|\[(?:test|bench|example)\])/) if line.start_with?("[")
      kept
    end
    lines.join
  end

  # Takes out of the lock file what these crates do not need; the rest stays as it is.
  def lock
    command = %w[cargo metadata --format-version 1 --manifest-path] << @folder.join("Cargo.toml").to_s
    before = versions
    output, status = Open3.capture2e(*command)
    raise "cargo metadata failed:\n#{output}" unless status.success?

    added = versions - before
    raise "the lock file of the gem would differ from the repository's: #{added.join(", ")}" unless added.empty?
  end

  def versions
    @folder.join("Cargo.lock").read.scan(/name = "(.+)"\nversion = "(.+)"/).map { |pair| pair.join(" ") }
  end

  def put(path, text)
    target = @folder.join(path)
    target.dirname.mkpath
    target.binwrite(text)
  end
end
