/** Ada, who owns a signed workspace with a project and a secret, on another machine and in the browser. */
import type { Page } from 'playwright-core'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { freshEmail } from '../support/app.ts'
import { marked } from '../support/canary.ts'
import { openOwnStage, openStage, type Stage } from './browser.ts'
import { foundWorkspace } from './elsewhere.ts'

export const HOST = 'api.upstream.example'

/** The workspace is Acme, its project is `billing`. A server with settings belongs to the caller alone. */
export async function openEmployer(path: string, env?: Record<string, string>) {
  const stage = env === undefined ? await openStage() : await openOwnStage(env)
  const email = freshEmail('ada')
  const { account, there, projectId } = await foundWorkspace(
    stage.app.controlPlane,
    email,
    'billing',
  )
  const { api, workspace } = there
  const place = { api, workspace, projectId, environment: 'production' }
  const policy = { allowed_methods: ['GET' as const] }
  const entry = { key: 'STRIPE_KEY', value: marked('sk_live_'), policy, expectedVersion: 0 }
  await uploadSecrets(place, [entry], true)
  const ada = await stage.enter(account, `w/${workspace.id}/${path}`)
  const hands = handsOn(ada.page)
  return { stage, email, ada, page: ada.page, there, projectId, ...hands, call: callAt(stage) }
}

function handsOn(page: Page) {
  return {
    button: (name: string | RegExp) => page.getByRole('button', { name, exact: true }),
    label: (name: string) => page.getByLabel(name, { exact: true }),
    area: (name: string) =>
      page.getByRole('navigation').getByRole('link', { name, exact: true }).click(),
    choose: async (of: string, option: string) => {
      await page.getByRole('button', { name: new RegExp(`${of}$`) }).click()
      await page.getByRole('option', { name: option, exact: true }).click()
    },
    /** Chooses a command with Ctrl+K. */
    command: async (name: string) => {
      await page.keyboard.press('ControlOrMeta+K')
      await page.getByRole('searchbox').fill(name)
      await page.getByRole('menuitem', { name, exact: true }).click()
    },
    /** Answers the question that is shown. */
    answer: (name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click(),
  }
}

type Called = { token: string; method?: string; host?: string; path?: string }

/** Calls with the secret. @returns why the call was refused */
function callAt({ app }: Stage) {
  return async ({ token, method = 'GET', host = HOST, path = '/v1/charges' }: Called) => {
    const headers = { authorization: 'Bearer SVC_SECRET_STRIPE_KEY' }
    const answer = await fetch(`${app.resolver}/v1/resolve`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ target_url: `https://${host}${path}`, method, headers }),
    })
    return String(Reflect.get(Object(await answer.json()), 'error_code'))
  }
}
