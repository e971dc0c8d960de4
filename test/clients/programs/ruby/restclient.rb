require 'rest-client'
require_relative 'common'

run(
  call: -> { puts RestClient.get("#{API}/things", HEADERS).body },
  stream: lambda {
    show = proc { |answer| answer.read_body { |piece| print piece } }
    RestClient::Request.execute(method: :get, url: "#{API}/events", headers: HEADERS, block_response: show)
  },
  upload: -> { puts RestClient.post("#{API}/files", { file: File.new(FILE) }, HEADERS).body }
)
