import { serverCommand } from '../../command.ts'

export default serverCommand({ usage: 'demo' }, async () =>
  (await import('../../demo/index.ts')).runDemo(),
)
