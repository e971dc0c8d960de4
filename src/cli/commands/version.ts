/** `cloakroom version`: the version, and with --json the hash of the console, which a release publishes. */
import { version } from '../../../package.json'
import { ConsoleNotBuilt } from '../../console/build_on_demand.ts'
import { openConsole } from '../../console/serve.ts'
import type { Host } from '../host.ts'

export async function runVersion({ streams }: Host, json = false): Promise<number> {
  const text = json ? JSON.stringify(await describe(), null, 2) : version
  streams.stdout.write(`${text}\n`)
  return 0
}

async function describe() {
  const { platform, arch: architecture } = process
  return { version, platform, architecture, bun: Bun.version, console: await consoleHash() }
}

/** `null` from source, if the console cannot be built. */
async function consoleHash(): Promise<string | null> {
  try {
    return (await openConsole()).hash
  } catch (error) {
    if (error instanceof ConsoleNotBuilt) return null
    throw error
  }
}
