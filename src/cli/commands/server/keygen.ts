/** Fresh keys, to be redirected into a .env file. */
import { serverCommand } from '../../command.ts'

export default serverCommand(
  {
    usage: 'keygen',
  },
  async ({ streams }, isJson) => {
    const { generateKeys } = await import('../../../operator/own_keys.ts')
    const keys = generateKeys()
    const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
    streams.stdout.write(isJson ? `${JSON.stringify(keys, null, 2)}\n` : lines.join(''))
    return 0
  },
)
