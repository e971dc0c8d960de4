/** Ada with a project, a secret and an agent's work to look after, on another machine and in the browser. */
import type { Page } from 'playwright-core'
import { upload } from '../../src/client/sealing.ts'
import { signUp } from '../../src/client/vault.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { logIn, openStage, PASSWORD } from './browser.ts'
import { elsewhere, shared } from './elsewhere.ts'

export const EMAIL = 'ada@example.com'
export const WORKSPACE = 'Acme'
export const HOST = 'api.upstream.example'
export const RESOLVER = 'https://resolver.example.com'

/** Her workspace Acme is signed; its project is `billing`. */
export async function openEmployer(path: string) {
  const stage = await openStage({ SERVICE_RESOLVER_URL: RESOLVER })
  await signUp(stage.app.controlPlane, EMAIL, PASSWORD)
  await shared(stage.app.controlPlane, EMAIL, WORKSPACE)
  const there = await elsewhere(stage.app.controlPlane, EMAIL, PASSWORD, WORKSPACE)
  const { api, workspace } = there
  const body = { name: 'billing', workspace_id: workspace.id }
  const { id: projectId } = await api.call(createProject, { body })
  const place = { api, workspace, projectId, environment: 'production' }
  const policy = { allowed_methods: ['GET' as const] }
  const entry = { key: 'STRIPE_KEY', value: marked('sk_live_'), policy, expectedVersion: 0 }
  await upload(place, [entry], true)
  const ada = await stage.visitor(`w/${workspace.id}/${path}`)
  await logIn(ada.page, EMAIL)
  ada.page.setDefaultTimeout(20_000)
  return { stage, ada, page: ada.page, there, projectId, ...handsOn(ada.page), call: callAt(stage) }
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
    /** Ctrl+K, and what is found there. */
    command: async (name: string) => {
      await page.keyboard.press('ControlOrMeta+K')
      await page.getByRole('searchbox').fill(name)
      await page.getByRole('menuitem', { name, exact: true }).click()
    },
    /** The answer of the one question that is shown. */
    answer: (name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click(),
  }
}

type Called = { token: string; method?: string; host?: string; path?: string }

/** A call with the secret; returns why it was refused. */
function callAt({ app }: Awaited<ReturnType<typeof openStage>>) {
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
