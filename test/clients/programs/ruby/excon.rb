require 'excon'
require_relative 'common'

read = ->(answer) { checked(answer.status, answer.body) }

run(
  call: -> { read.(Excon.get("#{API}/things", headers: HEADERS)) },
  stream: lambda {
    show = ->(piece, _remaining, _total) { print piece }
    Excon.get("#{API}/events", headers: HEADERS, response_block: show)
  },
  upload: -> { read.(Excon.put("#{API}/files/1", headers: HEADERS, body: File.binread(FILE))) }
)
