import { serverCommand } from '../../command.ts'

export default serverCommand(
  {
    usage: 'settings',
  },
  async ({ streams }, isJson) => {
    const { describeConfig, documentConfig } = await import('../../../core/config/config.ts')
    const text = isJson ? JSON.stringify(describeConfig(), null, 2) : documentConfig()
    streams.stdout.write(`${text}\n`)
    return 0
  },
)
