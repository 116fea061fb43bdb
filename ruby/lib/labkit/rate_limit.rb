# frozen_string_literal: true

# gitlab-labkit loads its own module under this name. Where this gem is in use, the name leads here.
require_relative "../labkit_ratelimit"
