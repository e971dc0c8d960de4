require 'httparty'
require_relative 'common'

OPTIONS = { headers: HEADERS }
read = ->(answer) { checked(answer.code, answer.body) }

run(
  call: -> { read.(HTTParty.get("#{API}/things", OPTIONS)) },
  stream: lambda {
    HTTParty.get("#{API}/events", OPTIONS.merge(stream_body: true)) { |piece| print piece }
  },
  upload: -> { read.(HTTParty.post("#{API}/files", OPTIONS.merge(body: { file: File.open(FILE) }))) }
)
