require 'faraday'
require_relative 'common'

api = Faraday.new(headers: HEADERS)
read = ->(answer) { checked(answer.status, answer.body) }

run(
  call: -> { read.(api.get("#{API}/things")) },
  stream: lambda {
    api.get("#{API}/events") { |request| request.options.on_data = proc { |piece| print piece } }
  },
  upload: -> { read.(api.put("#{API}/files/1", File.binread(FILE))) }
)
