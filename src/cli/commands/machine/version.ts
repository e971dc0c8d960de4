import { version } from '../../../../package.json'
import { serverCommand } from '../../command.ts'

export default serverCommand({ usage: 'version' }, async ({ streams }, isJson) => {
  const text = isJson ? JSON.stringify(await describe(), null, 2) : version
  streams.stdout.write(`${text}\n`)
  return 0
})

/** With the hash of the console, which a release publishes. */
async function describe() {
  const { platform, arch: architecture } = process
  return { version, platform, architecture, bun: Bun.version, console: await consoleHash() }
}

/** `null` from source, if the console cannot be built. */
async function consoleHash(): Promise<string | null> {
  const { NotBuilt } = await import('../../../console/build_on_demand.ts')
  const { openConsole } = await import('../../../console/serve.ts')
  try {
    return (await openConsole()).hash
  } catch (error) {
    if (error instanceof NotBuilt) return null
    throw error
  }
}
