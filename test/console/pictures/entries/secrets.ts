/** Pictures of the secrets screen, its inspector and its sheets. */
import type { Locator } from 'playwright-core'
import type { Entry, Scene } from '../entry.ts'
import { LONG_NAME } from '../names.ts'

const STRIPE = 'secrets?key=STRIPE_KEY&environment=production'

const cellOf = ({ page }: Scene, key: string, environment = 'production'): Locator =>
  page.getByRole('button', { name: new RegExp(`^${key} in ${environment}`) })

async function openInspector({ page }: Scene, key: string): Promise<void> {
  await page.getByRole('region', { name: key }).waitFor()
}

async function openTab(scene: Scene, name: RegExp): Promise<void> {
  await openInspector(scene, 'STRIPE_KEY')
  await scene.page.getByRole('tab', { name }).click()
}

async function select({ page }: Scene, key: string): Promise<void> {
  const box = page.getByRole('checkbox', { name: `Select ${key}` })
  await page.locator('label', { has: box }).click()
}

export const secretScreens: Entry[] = [
  { name: 'secrets-none', seed: 'empty', path: 'secrets' },
  { name: 'secrets-one', seed: 'small', path: 'secrets' },
  { name: 'secrets-list', seed: 'team', path: 'secrets' },
  {
    name: 'secrets',
    seed: 'team',
    path: STRIPE,
    prepare: (scene) => openInspector(scene, 'STRIPE_KEY'),
  },
  { name: 'secrets-1000', seed: 'large', path: 'secrets' },
  { name: 'secrets-missing', seed: 'team', path: 'secrets?show=missing' },
  { name: 'secrets-filtered-to-nothing', seed: 'team', path: 'secrets?find=zzzz' },
  { name: 'secrets-long-name', seed: 'team', path: `secrets?find=${LONG_NAME}` },
  {
    name: 'secrets-value-shown',
    seed: 'team',
    path: STRIPE,
    prepare: async ({ page, button }) => {
      await button('Show STRIPE_KEY').click()
      await page.locator('[data-secret-value]').waitFor()
    },
  },
  {
    name: 'secrets-edit-in-cell',
    seed: 'team',
    path: 'secrets',
    prepare: async (scene) => {
      await cellOf(scene, 'ANTHROPIC_API_KEY').focus()
      await scene.page.keyboard.press('e')
      await scene.page.keyboard.type('sk-ant-a-new-value')
      await scene.page.getByText('Enter to save · Tab for next · Esc to cancel').waitFor()
    },
  },
  {
    name: 'secrets-selected',
    seed: 'team',
    path: 'secrets',
    prepare: async (scene) => {
      for (const key of ['ANTHROPIC_API_KEY', 'AWS_REGION', 'DATABASE_URL'])
        await select(scene, key)
      await scene.page.getByText('3 selected').waitFor()
    },
  },
  {
    name: 'secrets-delete',
    seed: 'team',
    path: 'secrets',
    prepare: async (scene) => {
      await select(scene, 'ANTHROPIC_API_KEY')
      await scene.button('Delete…').click()
      await scene.page.getByRole('alertdialog').waitFor()
    },
  },
  {
    name: 'secrets-add',
    seed: 'team',
    path: 'secrets?pane=new',
    prepare: ({ field }) => field('Name').fill('PAGERDUTY_ROUTING_KEY'),
  },
  {
    name: 'secrets-import',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page, button, field }) => {
      await button('Import .env').click()
      await field('Lines such as NAME=value').fill(
        ['STRIPE_KEY=sk_test_other', 'NEW_RELIC_KEY=nr-1', 'LOG_LEVEL=debug'].join('\n'),
      )
      await page.getByRole('grid', { name: 'Changes' }).waitFor()
    },
  },
  {
    name: 'secrets-connect',
    seed: 'team',
    path: 'secrets?pane=connect',
    prepare: ({ field }) => field('Name').fill('LINEAR_OAUTH'),
  },
  {
    name: 'secrets-reconnect',
    seed: 'team',
    path: 'secrets?key=GOOGLE_DRIVE&environment=production',
    prepare: ({ button }) => button('Reconnect').waitFor(),
  },
  {
    name: 'secrets-compare',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page, button }) => {
      await button('Compare').click()
      await page.getByText(/^\d+ differences$/).waitFor()
    },
  },
  {
    name: 'secrets-policy',
    seed: 'team',
    path: STRIPE,
    prepare: async (scene) => {
      await openTab(scene, /^Policy/)
      await scene.page.getByText(/all still allowed/).waitFor()
    },
  },
  {
    name: 'secrets-policy-refusing',
    seed: 'team',
    path: STRIPE,
    prepare: async (scene) => {
      await openTab(scene, /^Policy/)
      const { page } = scene
      await page.getByRole('button', { name: /^Methods: / }).click()
      await page.getByRole('dialog').getByText('POST', { exact: true }).click()
      await page.keyboard.press('Escape')
      await page.getByText(/would be refused$/).waitFor()
    },
  },
  {
    name: 'secrets-versions',
    seed: 'team',
    path: STRIPE,
    prepare: (scene) => openTab(scene, /^Versions/),
  },
  {
    name: 'secrets-access',
    seed: 'team',
    path: STRIPE,
    prepare: (scene) => openTab(scene, /^Access/),
  },
]
