/** Ada, who owns a signed workspace with a held secret, in the browser, and an agent's calls to a real upstream. */

import { allowHosts } from '../../src/client/actions/allowlist.ts'
import { registerWithToken } from '../../src/client/actions/issue_token.ts'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import type { Policy } from '../../src/core/policy/policy.ts'
import { resolveAs, sharedStage } from '../support/agent.ts'
import { freshEmail } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { answerOf } from '../support/upstream.ts'
import { openStageOn } from './browser.ts'
import { foundWorkspace } from './elsewhere.ts'

export const VALUE = marked('held_console_')
export const HELD: Policy = { approval: { by: 'member', ttl_seconds: 900 } }

export async function openApprover() {
  const world = await sharedStage()
  const { app, upstream } = world
  upstream.on('/v1/charges', (_, wire) => void wire.write(answerOf(200, {}, 'sent')))
  const stage = await openStageOn(app)
  const email = freshEmail('ada')
  const { account, there, projectId } = await foundWorkspace(app.controlPlane, email, 'billing')
  const { api, workspace } = there
  const place = { api, workspace, projectId, environment: 'production' }
  const store = (key: string, policy: Policy) =>
    uploadSecrets(place, [{ key, value: VALUE, policy }], true)
  await store('STRIPE_KEY', HELD)
  await allowHosts(there, [world.authorityOf()])
  const places = [{ projectId, environment: 'production' }]
  const terms = { environment: 'production', order: {}, places }
  const { text: token } = await registerWithToken(there, { name: 'deploy-bot', projectId }, terms)
  const ada = await stage.enter(account, `w/${workspace.id}/live`)
  return {
    ...{ world, upstream, stage, email, account, there, projectId, place, store, token, ada },
    page: ada.page,
    /** One call with the held secret. */
    call: (changed: Record<string, unknown> = {}) =>
      resolveAs(app.resolver, token, {
        target_url: `${world.url('/v1/charges')}?expand=customer`,
        method: 'POST',
        headers: {
          authorization: 'Bearer SVC_SECRET_STRIPE_KEY',
          'content-type': 'application/json',
        },
        body: '{"amount":1000}',
        reason: 'Charge the test card',
        ...changed,
      }),
    close: async () => {
      await ada.close()
      await stage.close()
      await world.stop()
    },
  }
}
