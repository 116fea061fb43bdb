# frozen_string_literal: true

require_relative "lib/labkit_ratelimit/version"

Gem::Specification.new do |spec|
  spec.name = "labkit-ratelimit"
  spec.version = Labkit::RateLimit::VERSION
  spec.authors = ["The labkit-ratelimit authors"]
  spec.summary = "Decides, per request, whether it may go on"
  spec.description = "Rate limits of GitLab's labkit, decided by a native core: on the host's own Redis in one round " \
                     "trip a check, or in memory."
  spec.license = "MIT"
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }
  spec.extensions = ["ext/labkit_ratelimit/extconf.rb"]
  spec.require_paths = ["lib"]

  Dir.chdir(__dir__) do
    # `gem build` in the repository: the gem brings the crates that its extension is built from.
    if defined?(Gem::Commands::BuildCommand) && File.exist?("../bindings/ruby/Cargo.toml")
      require_relative "packaging/vendored"
      Vendored.new(File.expand_path(".."), File.expand_path("ext/labkit_ratelimit/vendor")).write
    end
    spec.files = Dir["lib/**/*.rb", "sig/**/*.{rbs,yaml}", "ext/labkit_ratelimit/extconf.rb", "README.md"] +
                 Dir["ext/labkit_ratelimit/vendor/**/*"].select { |file| File.file?(file) }
  end
end
