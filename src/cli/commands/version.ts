/** `cloakroom version`: which program this is, down to the hash of its console, which a release publishes. */
import { version } from '../../../package.json'
import { openConsole } from '../../console/serve.ts'
import type { Host } from '../host.ts'

export async function runVersion({ streams }: Host, json = false): Promise<number> {
  const { hash } = await openConsole()
  const said = {
    version,
    platform: process.platform,
    architecture: process.arch,
    bun: Bun.version,
    console: hash,
  }
  streams.stdout.write(json ? `${JSON.stringify(said, null, 2)}\n` : `${version}\n`)
  return 0
}
