import { command } from '../../command.ts'
import { lock as endAgent } from '../../unlocked/index.ts'

export default command({
  usage: 'lock',
  examples: ['lock'],
  action: async (context) => {
    const wasUnlocked = await endAgent(context.env)
    context.output.done(wasUnlocked ? 'Locked.' : 'It was already locked.', {
      locked: true,
      was_unlocked: wasUnlocked,
    })
  },
})
