import { test } from 'bun:test'
import { uploadSecrets } from '../../src/client/actions/set_secrets.ts'
import { auditLogs } from '../../src/database/schema/index.ts'
import { createProject } from '../../src/features/projects/contract.ts'
import { marked } from '../support/canary.ts'
import { openStage } from './browser.ts'
import { elsewhere, shared } from './elsewhere.ts'

const NAMES =
  'ANTHROPIC_API_KEY AWS_REGION DATABASE_URL GITHUB_TOKEN JWT_SIGNING_KEY OPENAI_API_KEY STRIPE_KEY'.split(
    ' ',
  )
test('look', async () => {
  const stage = await openStage()
  const ada = await stage.person('ada')
  const { page } = ada
  const server = stage.app.controlPlane
  const id = await shared(server, ada.email, 'Acme')
  const { api, workspace } = await elsewhere(server, ada.email, undefined, 'Acme')
  const body = { name: 'payments', workspace_id: id }
  const { id: projectId } = await api.call(createProject, { body })
  const policy = {
    allowed_methods: ['GET'],
    allowed_domains: ['api.github.com'],
    allowed_paths: ['/repos/acme/'],
    allowed_locations: ['header'],
  } as never
  for (const environment of ['development', 'staging', 'production'])
    await uploadSecrets(
      { api, workspace, projectId, environment },
      NAMES.map((key) => ({
        key,
        value: marked(`${key}${environment}`),
        policy: key === 'GITHUB_TOKEN' ? policy : undefined,
      })),
      true,
    )
  await uploadSecrets(
    { api, workspace, projectId, environment: 'production' },
    [{ key: 'STRIPE_KEY', value: marked('v2'), policy }] as never,
    true,
  )
  const call = {
    workspaceId: id,
    source: 'resolver' as const,
    identityLevel: 'agent' as const,
    agentId: 'claude-code',
    projectId,
    environment: 'production',
    method: 'GET',
    targetUrl: 'https://api.github.com/repos/acme/x',
    targetDomain: 'api.github.com',
    credentialRef: 'GITHUB_TOKEN',
    injectionStyle: 'header',
    decision: 'allowed' as const,
    statusCode: 200,
  }
  const rows = [12, 20, 16, 30, 26, 38, 44].flatMap((count, day) =>
    Array.from({ length: count }, () => ({
      ...call,
      timestamp: new Date(Date.now() - (6 - day) * 86_400_000 - 120_000),
      ...(day === 3 ? { method: 'POST', targetUrl: 'https://api.github.com/graphql' } : {}),
    })),
  )
  await stage.app.connection.db.insert(auditLogs).values(rows)
  const shot = async (name: string) => {
    await page.waitForTimeout(400)
    await page.screenshot({ path: `/tmp/w/inspect_shots/${name}.png` })
  }
  const judge = (where: string) => ada.judge().catch((e: Error) => console.log(where, e.message))
  await page.setViewportSize({ width: 1280, height: 800 })
  const at = (key: string, more = '') =>
    page.goto(`${stage.origin}/console/w/${id}/secrets?environment=production&key=${key}${more}`)
  await at('GITHUB_TOKEN')
  await page
    .getByText('186 calls')
    .first()
    .waitFor({ timeout: 20000 })
    .catch((e: Error) => console.log(e.message))
  await shot('value')
  await judge('value')
  await page.getByRole('button', { name: 'Replace value' }).click()
  await shot('replace')
  await page.getByRole('tab', { name: 'Policy' }).click()
  await shot('policy')
  await judge('policy')
  await page.getByRole('button', { name: /^Methods/ }).click()
  await shot('methods')
  await page.locator('label', { hasText: 'POST' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Paths/ }).click()
  await page.getByRole('combobox', { name: 'Paths' }).fill('https://x.example/graphql?x=1')
  await page.keyboard.press('Enter')
  await shot('paths')
  await judge('paths open')
  console.log(
    await page.evaluate(() =>
      [...document.querySelectorAll('div[style="display: contents;"]')]
        .map((e) => e.parentElement?.tagName + ' ' + e.outerHTML.slice(0, 600))
        .join('\n'),
    ),
  )
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Approval/ }).click()
  await shot('approval')
  await page.keyboard.press('Escape')
  await page.locator('summary').click()
  await shot('changed')
  await judge('changed')
  await page.emulateMedia({ colorScheme: 'dark' })
  await shot('changed-dark')
  await judge('changed dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('tab', { name: 'Access' }).click()
  await shot('access')
  await judge('access')
  await at('STRIPE_KEY')
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByText('Version 1', { exact: true }).waitFor()
  await shot('versions')
  await judge('versions')
  await page.getByRole('button', { name: 'Restore version 1…' }).click()
  await shot('restore')
  await judge('restore')
  await page.keyboard.press('Escape')
  await at('STRIPE_KEY')
  await page.getByRole('button', { name: 'Replace value' }).waitFor()
  await at('MISSING_ONE')
  await page.getByRole('button', { name: 'Add value' }).waitFor()
  await shot('missing')
  await at('GITHUB_TOKEN', '&pane=copy-one')
  await page.getByText('Copy 1 secret').first().waitFor()
  await shot('copy-one')
  await page.setViewportSize({ width: 390, height: 844 })
  await at('GITHUB_TOKEN')
  await page.getByText('186 calls').first().waitFor({ timeout: 20000 })
  await shot('phone-value')
  await judge('phone')
  await page.getByRole('tab', { name: 'Policy' }).click()
  await shot('phone-policy')
  await judge('phone policy')
  await ada.close().catch((e: Error) => console.log(e.message))
  await stage.close()
}, 300_000)
