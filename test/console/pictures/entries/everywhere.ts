/** Pictures of screens outside one workspace, the palette, and states of any screen. */
import type { Locator } from 'playwright-core'
import { type Entry, lengthenTexts, type Scene } from '../entry.ts'

async function search({ page }: Scene, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+K')
  await page.getByRole('dialog', { name: 'Search' }).waitFor()
  await page.keyboard.type(text)
}

/** Points at the last icon button of a header. */
async function showTooltip({ page }: Scene, place: Locator): Promise<void> {
  // A pointer that has not moved yet shows none.
  await page.mouse.move(1, 1)
  await place.locator('header').getByRole('button').last().hover()
  await page.getByRole('tooltip').waitFor()
}

const lengthen = ({ page }: Scene) => page.evaluate(lengthenTexts)

export const everywhere: Entry[] = [
  { name: 'workspaces', seed: 'team', path: '/workspaces' },
  { name: 'account', seed: 'small', path: '/account' },
  {
    name: 'account-menu',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page, button }) => {
      await page.getByRole('row').nth(1).waitFor()
      await button('Account menu').click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'account-password',
    seed: 'small',
    path: '/account',
    prepare: async ({ page, button }) => {
      await button('Change password').click()
      await page.getByRole('alertdialog').waitFor()
    },
  },
  {
    name: 'account-delete',
    seed: 'small',
    path: '/account',
    prepare: async ({ page, button }) => {
      await button('Delete account').click()
      await page.getByText('You can’t undo this. You lose:').waitFor()
    },
  },
  { name: 'instance', seed: 'team', path: '/instance' },
  {
    name: 'instance-bad',
    seed: 'team',
    path: '/instance',
    prepare: async ({ page, world }) => {
      const { sql } = world.stage.app.connection
      await sql`update instance set backup_failed_at = now() - interval '3 hours'`
      await page.reload()
      await page.getByText(/^The backup of .* failed\./).waitFor()
      await sql`update instance set backup_failed_at = null`
    },
  },
  { name: 'palette', seed: 'team', path: 'secrets', prepare: (scene) => search(scene, '') },
  {
    name: 'palette-searching',
    seed: 'team',
    path: 'secrets',
    prepare: async (scene) => {
      await search(scene, 'STRIPE')
      await scene.page
        .getByRole('menuitem', { name: /STRIPE_REFUND_KEY/ })
        .first()
        .waitFor()
    },
  },
  {
    name: 'palette-nothing-found',
    seed: 'team',
    path: 'secrets',
    prepare: async (scene) => {
      await search(scene, 'zzzz')
      await scene.page.getByText('No results for “zzzz”').waitFor()
    },
  },
  {
    name: 'shortcuts',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page }) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    },
  },
  {
    name: 'tooltip',
    seed: 'team',
    path: 'secrets',
    prepare: (scene) => showTooltip(scene, scene.page.getByRole('main')),
  },
  {
    name: 'tooltip-in-sheet',
    seed: 'team',
    path: 'secrets?pane=new',
    prepare: (scene) => showTooltip(scene, scene.page.getByRole('dialog')),
  },
  {
    name: 'toasts',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page }) => {
      for (const key of ['ANTHROPIC_API_KEY', 'AWS_REGION', 'DATABASE_URL']) {
        await page.getByRole('button', { name: new RegExp(`^${key} in development`) }).focus()
        await page.keyboard.press('c')
        await page.getByText(`${key} copied.`).first().waitFor()
      }
    },
  },
  {
    name: 'server-unavailable',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page }) => {
      await page.getByRole('row').nth(1).waitFor()
      await page.route('**/api/**', (route) => route.fulfill({ status: 503, body: '' }))
      await page.getByRole('link', { name: 'Members', exact: true }).click()
      await page.getByText(/^The server is unavailable\. You see/).waitFor()
    },
  },
  { name: 'read-only-role', seed: 'team', role: 'read_only', path: 'secrets' },
  { name: 'read-only-role-overview', seed: 'team', role: 'read_only', path: 'overview' },
  { name: 'longer-texts-secrets', seed: 'team', path: 'secrets', prepare: lengthen },
  { name: 'longer-texts-live', seed: 'team', path: 'live', prepare: lengthen },
  { name: 'longer-texts-overview', seed: 'team', path: 'overview', prepare: lengthen },
  { name: 'zoomed', seed: 'team', path: 'secrets', isZoomed: true },
  { name: 'forced-colors', seed: 'team', path: 'secrets', hasForcedColors: true },
  { name: 'not-found', seed: 'team', path: 'nowhere' },
]
