/** The screen for an address at which browsers offer no Web Crypto. */
export const insecure = {
  title: 'The console needs HTTPS or localhost',
  why: (origin: string) =>
    `Your browser offers no Web Crypto at ${origin}. The console can’t use your keys without it.`,
  https: 'Use HTTPS',
  httpsHow:
    'Ask the operator for the https address. With compose.yaml, Caddy gets the certificate (docs/guides/containers.md).',
  tunnel: 'Use a tunnel to localhost',
  tunnelHow: 'Run this command on your machine, with your login on the server:',
  thenOpen: 'Then open',
  local: 'http://localhost:8000/console/',
  commandLine: 'Use the command line',
  commandLineHow:
    'Serve the console on your machine. Calls to the server stay unencrypted, so trust the network.',
}
