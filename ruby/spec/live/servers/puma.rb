# frozen_string_literal: true

bind "tcp://127.0.0.1:0"
workers 2
threads 5, 5
preload_app!
environment "production"
rackup File.expand_path("app.ru", __dir__)
