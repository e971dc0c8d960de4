require 'octokit'
require_relative 'common'

Octokit.configure { |settings| settings.api_endpoint = ENV['GITHUB_API_URL'] if ENV['GITHUB_API_URL'] }
github = Octokit::Client.new(access_token: ENV['GITHUB_TOKEN'])

run(
  call: -> { puts github.repository('acme/things').description },
  upload: lambda {
    made = github.create_contents('acme/things', 'file.bin', 'A file', File.binread(FILE))
    puts made.content.sha
  }
)
