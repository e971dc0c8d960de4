/** The screen for an address at which browsers offer no Web Crypto. */
export const insecure = {
  title: 'The console needs HTTPS or localhost',
  why: (origin: string) =>
    `At ${origin}, your browser offers no Web Crypto. Without it, the console cannot use your keys.`,
  https: 'Use HTTPS',
  httpsHow:
    'Ask the operator for the https address. With compose.yaml, Caddy gets the certificate (docs/containers.md).',
  tunnel: 'Use a tunnel to localhost',
  tunnelHow: 'Run this command on your machine, with your login on the server:',
  thenOpen: 'Then open',
  local: 'http://localhost:8000/console/',
  commandLine: 'Use the command line',
  commandLineHow: 'Use this on a network you trust. Calls to the server stay unencrypted.',
}
