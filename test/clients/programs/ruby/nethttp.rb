require 'net/http'
require_relative 'common'

def to(kind, path)
  uri = URI("#{API}#{path}")
  request = kind.new(uri, HEADERS)
  yield request if block_given?
  Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https') do |http|
    return http.request(request) unless path == '/events'

    http.request(request) { |answer| answer.read_body { |piece| print piece } }
  end
end

def read(answer)
  checked(answer.code, answer.body)
end

run(
  call: -> { read(to(Net::HTTP::Get, '/things')) },
  stream: -> { to(Net::HTTP::Get, '/events') },
  upload: lambda {
    read(to(Net::HTTP::Put, '/files/1') { |request| request.body = File.binread(FILE) })
  }
)
