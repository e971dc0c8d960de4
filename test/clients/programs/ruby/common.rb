# Code that the Ruby programs share: the first argument names the action, and an error is printed as its library words it.
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

# For libraries that treat an error status as an ordinary answer.
def checked(status, body)
  raise "#{status}: #{body}" if status.to_i >= 400

  puts body
end
