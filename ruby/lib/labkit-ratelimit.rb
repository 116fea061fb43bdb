# frozen_string_literal: true

# Bundler requires a gem by its own name.
require_relative "labkit_ratelimit"
