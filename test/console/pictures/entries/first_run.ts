/** Pictures of the first run, from an empty workspace to the first call. */
import { resolveAs } from '../../../support/agent.ts'
import type { Entry, Scene } from '../entry.ts'

const KEY = 'sk_test_51HxQ2eZvKYlo2CtheKeyOfThePictures'

/** Pastes a key and creates a token for it. */
async function start({ page, field, button, world }: Scene): Promise<void> {
  await field('API key').fill(KEY)
  await field('Host').fill(world.answering)
  await button('Add secret and create token').click()
  await page.getByText('Waiting for the call…').waitFor()
}

export const firstRun: Entry[] = [
  { name: 'first-run', seed: 'empty', path: 'first-steps' },
  {
    name: 'first-run-key',
    seed: 'empty',
    path: 'first-steps',
    prepare: async ({ page, field }) => {
      await field('API key').fill(KEY)
      await page.getByText('Stripe key. Its name and host are filled in.').waitFor()
    },
  },
  { name: 'first-run-waiting', seed: 'waiting', path: 'first-steps', prepare: start },
  {
    name: 'first-run-call',
    seed: 'calling',
    path: 'first-steps',
    prepare: async (scene) => {
      await start(scene)
      const { page, button, world } = scene
      await button('Show token').click()
      const token = (await page.locator('[data-secret-value]').textContent()) ?? ''
      await button('Hide token').click()
      await resolveAs(world.stage.app.resolver, token, {
        target_url: `https://${world.answering}/v1/balance`,
        method: 'GET',
        headers: { authorization: 'Bearer SVC_SECRET_STRIPE_KEY' },
      })
      await page.getByText('It worked.').scrollIntoViewIfNeeded()
    },
  },
]
