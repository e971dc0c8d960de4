/** Command-line programs. */
import { bothWays, type Client, noStream, noUpload } from '../client.ts'

/** @param packages Debian packages */
const tool = (name: string, api: string, program: string, packages = [program]): Client => ({
  ...{ name, language: 'Command line', packages, api, program },
})

export const commandLine: readonly Client[] = [
  tool('curl', 'example', 'curl'),
  {
    ...tool('wget', 'example', 'wget'),
    note: 'needs `--ca-certificate`, as the proxy prints at its start',
  },
  tool('HTTPie', 'example', 'httpie'),
  {
    ...tool('git', 'git', 'git'),
    lacks: { ...noStream, ...noUpload },
    fails: bothWays('refusal', 'it prints only 403'),
  },
  {
    ...tool('gh', 'github', 'gh'),
    lacks: { ...noStream, forward: 'it accepts a host, but no path' },
  },
  {
    ...tool('aws 2', 's3', 'aws', ['awscli']),
    note: 'forward needs `--endpoint-url`, or `AWS_ENDPOINT_URL` from 2.13',
    lacks: { stream: 'it writes 256 KiB at a time' },
  },
  {
    ...tool('rclone', 's3', 'rclone'),
    note: 'fails with `AWS_CA_BUNDLE`, as the proxy prints at its start',
    isSilent: true,
    lacks: noStream,
  },
]
