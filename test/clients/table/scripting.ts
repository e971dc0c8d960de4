/** Ruby, PHP and Perl: Debian libraries. */
import { type Client, type Language, noStream } from '../client.ts'

const library =
  (language: Language) =>
  (name: string, program: string, packages: string[], more: Partial<Client> = {}): Client => ({
    ...{ name, language, packages, api: 'example', program, ...more },
  })

const ruby = library('Ruby')
const php = library('PHP')
const perl = library('Perl')

const led = { note: 'reads only `http_proxy`, as the proxy prints at its start' }

export const scripting: readonly Client[] = [
  ruby('Net::HTTP', 'nethttp', ['ruby'], led),
  ruby('Excon', 'excon', ['ruby-excon']),
  ruby('Faraday', 'faraday', ['ruby-faraday']),
  ruby('HTTParty', 'httparty', ['ruby-httparty'], led),
  ruby('octokit (Ruby)', 'octokit', ['ruby-octokit'], {
    ...led,
    api: 'github',
    lacks: noStream,
  }),
  ruby('rest-client', 'restclient', ['ruby-rest-client'], led),
  ruby('Typhoeus', 'typhoeus', ['ruby-typhoeus'], { note: 'proxy needs `cainfo`' }),
  php('curl of PHP', 'curl', ['php-cli', 'php-curl']),
  php('Guzzle', 'guzzle', ['php-guzzlehttp-guzzle']),
  php('Symfony HttpClient', 'symfony', ['php-symfony-http-client']),
  perl('LWP::UserAgent', 'lwp', ['libwww-perl', 'liblwp-protocol-https-perl'], {
    note: 'proxy needs `env_proxy`',
  }),
  perl('HTTP::Tiny', 'tiny', ['perl', 'libio-socket-ssl-perl']),
  perl('Mojo::UserAgent', 'mojo', ['libmojolicious-perl', 'libio-socket-ssl-perl'], {
    note: 'proxy needs `detect` and `ca`',
  }),
  perl('Furl', 'furl', ['libfurl-perl', 'libio-socket-ssl-perl'], {
    note: 'proxy needs `proxy` and `ssl_opts`',
  }),
]
