# What programs of Ruby share: the first argument says what to do, an error is shown as its library has it.
# Net::HTTP follows this one only, for https too.
ENV['http_proxy'] = ENV['https_proxy'] if ENV['https_proxy']

API = ENV['API_URL']
HEADERS = { 'Authorization' => "Bearer #{ENV['API_KEY']}" }.freeze
FILE = ENV['FILE']

$stdout.sync = true

def run(actions)
  actions[ARGV[0].to_sym].call
rescue StandardError => error
  body = error.respond_to?(:response) && error.response.respond_to?(:body) ? error.response.body : ''
  abort "#{error.class}: #{error.message} #{body}"
end

# Where an error status is an answer like others.
def checked(status, body)
  raise "#{status}: #{body}" if status.to_i >= 400

  puts body
end
