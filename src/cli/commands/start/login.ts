import { enter, type Place, placeFor, reachServer } from '../../accounts/entrance.ts'
import { withPassword } from '../../accounts/passwords.ts'
import { command } from '../../command.ts'
import { entranceOptions } from '../../options.ts'

export default command({
  usage: 'login <email>',
  examples: [
    'login ada@example.com',
    'login ada@example.com --server https://vault.example.com --name work',
  ],
  options: [...entranceOptions],
  action: async (context, [email], options) => {
    await reachServer(context)
    let place: Place | undefined
    const entered = await withPassword(context, options, async (password) => {
      place ??= await placeFor(context, email, options)
      return enter(context, place, password)
    })
    context.output.record(entered)
  },
})
