# frozen_string_literal: true

# Writes the Makefile that builds the native half with Cargo. Contract: needs cargo, a C compiler and libclang; asks
# nothing of RubyGems but what it gives every extension. `sitearchdir` and `DESTDIR` are make's to override.
# LABKIT_RATELIMIT_FEATURES names features of the crate, for tests.

require "rbconfig"
require "shellwords"

repository = File.expand_path("../../..", __dir__)
checkout = File.exist?(File.join(repository, "bindings/ruby/Cargo.toml"))
root = checkout ? repository : File.join(__dir__, "vendor")
manifest = File.join(root, "bindings/ruby/Cargo.toml")
unless File.exist?(manifest)
  abort "extconf.rb: #{manifest} is missing: this gem was not built by `gem build` in its repository"
end

cargo = ENV.fetch("CARGO", "cargo")
unless system(cargo, "--version", out: File::NULL, err: File::NULL)
  abort "extconf.rb: there is no `#{cargo}`: install Rust, by rustup or your packages, or set CARGO"
end

# The folder that Cargo is told to use, or the repository's. In a gem else one beside the Makefile, which goes when the
# library is built.
own = !checkout && !ENV.key?("CARGO_TARGET_DIR")
target = own ? File.join(Dir.pwd, "target") : File.expand_path(ENV.fetch("CARGO_TARGET_DIR", "target"), root)
triple = ENV.fetch("CARGO_BUILD_TARGET", nil)
features = ENV.fetch("LABKIT_RATELIMIT_FEATURES", "")
extension = RbConfig::CONFIG["DLEXT"]
prefix = RbConfig::CONFIG["SOEXT"] == "dll" ? "" : "lib"
built = File.join(*[target, triple, "release", "#{prefix}labkit_ratelimit_native.#{RbConfig::CONFIG["SOEXT"]}"].compact)

# Cargo tells sources by their path within a checkout, and by their time. So in a folder that another checkout built in
# last, what that one built passes for this one's, and is taken away first.
last = "#{built}.checkout"
crates = Dir[File.join(root, "{core,bindings}/*/Cargo.toml")].map { |file| File.read(file)[/^name = "(.+)"/, 1] }.sort
anew = [cargo, "clean", "--quiet", "--release", "--locked", "--manifest-path", manifest, "--target-dir", target,
        *crates.flat_map { |crate| ["--package", crate] }].shelljoin

# macOS leaves Ruby's symbols to be found when the library is loaded.
linking = RbConfig::CONFIG["host_os"].include?("darwin") ? "-C link-arg=-Wl,-undefined,dynamic_lookup" : ""
command = [cargo, "rustc", "--release", "--locked", "--manifest-path", manifest, "--target-dir", target,
           "--features", features, "--lib", "--crate-type", "cdylib"].shelljoin

File.write("Makefile", <<~MAKEFILE)
  SHELL = /bin/sh
  DESTDIR =
  sitearchdir = #{RbConfig::CONFIG["sitearchdir"]}
  target_prefix = /labkit_ratelimit
  RUBYARCHDIR = $(sitearchdir)$(target_prefix)
  TARGET = labkit_ratelimit_native
  DLLIB = $(TARGET).#{extension}

  all: $(DLLIB)

  # Cargo knows what is up to date.
  $(DLLIB): FORCE
  #{"\ttest \"$$(cat #{last.shellescape} 2>/dev/null)\" = #{root.shellescape} || #{anew}" unless own}
  \tRUBY=#{RbConfig.ruby.shellescape} #{command} -- -C strip=debuginfo #{linking}
  #{"\tprintf %s #{root.shellescape} > #{last.shellescape}" unless own}
  \tcp #{built.shellescape} $(DLLIB)
  #{"\trm -rf #{target.shellescape}" if own}

  install: all
  \tmkdir -p "$(DESTDIR)$(RUBYARCHDIR)"
  \tinstall -m 755 $(DLLIB) "$(DESTDIR)$(RUBYARCHDIR)"

  clean:
  \trm -f $(DLLIB)
  #{"\trm -rf #{target.shellescape}" if own}

  distclean realclean: clean
  \trm -f Makefile

  FORCE:

  .PHONY: all install clean distclean realclean FORCE
MAKEFILE
