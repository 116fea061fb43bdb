# frozen_string_literal: true

# Required before a program of this repository (`ruby -r`): the program fails unless what it ran is the gem that is
# installed in GEM_HOME, its library too, and nothing of a checkout.
require "English"

at_exit do
  next unless $ERROR_INFO.nil? || $ERROR_INFO.is_a?(SystemExit)

  home = File.join(File.realpath(ENV.fetch("GEM_HOME")), "")
  ours = $LOADED_FEATURES.grep(%r{/labkit_ratelimit(?:\.rb\z|/)})
  strange = ours.reject { |file| File.realpath(file).start_with?(home) }
  abort "not the installed gem: #{strange.first || "nothing of it was loaded"}" if ours.empty? || strange.any?
  abort "no library of the installed gem: #{ours.inspect}" if ours.grep(/labkit_ratelimit_native/).empty?
end
