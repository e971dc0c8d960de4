import { serverCommand } from '../../command.ts'

export default serverCommand({ usage: 'serve' }, async () =>
  (await import('../../../server/serve.ts')).runServe(),
)
