/** Ruby, PHP and Perl: libraries of Debian. */
import type { Client, Language } from '../client.ts'

const library =
  (language: Language) =>
  (name: string, program: string, packages: string[], more: Partial<Client> = {}): Client => ({
    ...{ name, language, packages, api: 'example', program, ...more },
  })

const ruby = library('Ruby')
const php = library('PHP')
const perl = library('Perl')

const led = { note: 'follows `http_proxy` only, as the proxy says at the start' }

export const scripting: readonly Client[] = [
  ruby('Net::HTTP', 'nethttp', ['ruby'], led),
  ruby('Excon', 'excon', ['ruby-excon']),
  ruby('Faraday', 'faraday', ['ruby-faraday']),
  ruby('HTTParty', 'httparty', ['ruby-httparty'], led),
  ruby('octokit (Ruby)', 'octokit', ['ruby-octokit'], {
    ...led,
    api: 'github',
    lacks: { stream: 'it has no call with a stream' },
  }),
  ruby('rest-client', 'restclient', ['ruby-rest-client'], led),
  ruby('Typhoeus', 'typhoeus', ['ruby-typhoeus'], {
    note: 'needs the bundle as an option (`cainfo`)',
  }),
  php('curl of PHP', 'curl', ['php-cli', 'php-curl']),
  php('Guzzle', 'guzzle', ['php-guzzlehttp-guzzle']),
  php('Symfony HttpClient', 'symfony', ['php-symfony-http-client']),
  perl('LWP::UserAgent', 'lwp', ['libwww-perl', 'liblwp-protocol-https-perl'], {
    note: 'needs an option to follow the environment (`env_proxy`)',
  }),
  perl('HTTP::Tiny', 'tiny', ['perl', 'libio-socket-ssl-perl']),
  perl('Mojo::UserAgent', 'mojo', ['libmojolicious-perl', 'libio-socket-ssl-perl'], {
    note: 'needs options to follow the environment and for the bundle (`detect`, `ca`)',
  }),
  perl('Furl', 'furl', ['libfurl-perl', 'libio-socket-ssl-perl'], {
    note: 'needs proxy and bundle as options (`proxy`, `ssl_opts`)',
  }),
]
