require 'typhoeus'
require_relative 'common'

# libcurl reads no variable that names authorities.
TRUST = ENV['SSL_CERT_FILE'] ? { cainfo: ENV['SSL_CERT_FILE'] } : {}
read = ->(answer) { checked(answer.code.zero? ? 599 : answer.code, "#{answer.body} #{answer.return_message}") }

run(
  call: -> { read.(Typhoeus.get("#{API}/things", headers: HEADERS, **TRUST)) },
  stream: lambda {
    request = Typhoeus::Request.new("#{API}/events", headers: HEADERS, **TRUST)
    request.on_body { |piece| print piece }
    request.run
  },
  upload: -> { read.(Typhoeus.post("#{API}/files", headers: HEADERS, body: { file: File.open(FILE) }, **TRUST)) }
)
