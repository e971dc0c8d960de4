/** Pictures of the ways in: unlocking, signing in, creating an account and the recovery key. */
import { PASSWORD } from '../../accounts.ts'
import { attachAuthenticator } from '../../authenticators.ts'
import { type Entry, pressLock, type Scene } from '../entry.ts'

let registered = 0

async function submit({ field, button }: Scene, verb: string, email: string, password: string) {
  await field('Email').fill(email)
  await field('Password').fill(password)
  await button(verb).click()
}

export const entrances: Entry[] = [
  { name: 'sign-in', path: '/login' },
  {
    name: 'sign-in-error',
    path: '/login',
    prepare: async (scene) => {
      await submit(scene, 'Sign in', 'ada.lovelace@acme.example', 'not her password at all')
      await scene.page.getByText('Email or password is wrong.').waitFor()
    },
  },
  { name: 'create-account', path: '/register' },
  {
    name: 'create-account-empty',
    path: '/register',
    prepare: async ({ page, button }) => {
      await button('Create account').click()
      await page.getByText('Email: this field is required.').waitFor()
    },
  },
  {
    name: 'recovery-key',
    path: '/register',
    prepare: async (scene) => {
      registered += 1
      await submit(scene, 'Create account', `newcomer-${registered}@acme.example`, PASSWORD)
      await scene.page.getByRole('heading', { name: 'Your recovery key', level: 1 }).waitFor()
    },
  },
  { name: 'recover', path: '/recover' },
  { name: 'lock', seed: 'team', path: 'secrets', prepare: ({ page }) => pressLock(page) },
  {
    name: 'lock-with-passkey',
    seed: 'small',
    path: '/account',
    prepare: async ({ page, tools, field, button }) => {
      await attachAuthenticator({ tools }, true)
      await button('Add passkey').click()
      await field('Name').fill('Laptop')
      await field('Current password').fill(PASSWORD)
      await page.getByRole('alertdialog').getByRole('button', { name: 'Add passkey' }).click()
      await page.getByText('Laptop', { exact: true }).waitFor()
      await pressLock(page)
    },
  },
  {
    name: 'locked-in-another-tab',
    seed: 'team',
    path: 'secrets',
    prepare: async ({ page }) => {
      const other = await page.context().newPage()
      await other.goto(page.url())
      await other.getByRole('heading', { level: 1 }).first().waitFor()
      await pressLock(other)
      await other.close()
      await page.getByText('Locked in another tab').waitFor()
    },
  },
]
