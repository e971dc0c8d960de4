/** Programs of the command line. */
import { bothWays, type Client } from '../client.ts'

/** @param packages of Debian */
const tool = (name: string, api: string, program: string, packages = [program]): Client => ({
  ...{ name, language: 'Command line', packages, api, program },
})

const noStream = { stream: 'it has no call with a stream' }

export const commandLine: readonly Client[] = [
  tool('curl', 'example', 'curl'),
  {
    ...tool('wget', 'example', 'wget'),
    note: 'needs the bundle as an option (`--ca-certificate`), as the proxy prints at the start',
  },
  tool('HTTPie', 'example', 'httpie'),
  {
    ...tool('git', 'git', 'git'),
    lacks: { ...noStream, upload: 'the fake keeps no repository' },
    fails: bothWays('refusal', 'it shows 403 only'),
  },
  {
    ...tool('gh', 'github', 'gh'),
    lacks: { ...noStream, forward: 'it takes a host, and no path' },
  },
  {
    ...tool('aws 2', 's3', 'aws', ['awscli']),
    note: 'forward: needs the address as an option (`--endpoint-url`), which it reads from `AWS_ENDPOINT_URL` from 2.13 on',
    lacks: { stream: 'it writes 256 KiB at a time' },
  },
  {
    ...tool('rclone', 's3', 'rclone'),
    note: 'does not bear `AWS_CA_BUNDLE`, as the proxy says at the start',
    isSilent: true,
    lacks: { stream: 'the program copies files' },
  },
]
