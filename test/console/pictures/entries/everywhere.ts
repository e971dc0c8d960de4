/** Pictures of the screens beyond one workspace, the palette, and what can happen on any screen. */
import { type Entry, lengthenTexts, type Scene } from '../entry.ts'

async function search({ page }: Scene, text: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+K')
  await page.getByRole('searchbox').fill(text)
}

export const everywhere: Entry[] = [
  { name: 'workspaces', seed: 'team', path: '/' },
  { name: 'account', seed: 'small', path: '/account' },
  { name: 'instance', seed: 'team', path: '/instance' },
  { name: 'palette', seed: 'team', path: 'secrets', prepare: (scene) => search(scene, '') },
  {
    name: 'palette-searching',
    seed: 'team',
    path: 'secrets',
    prepare: (scene) => search(scene, 'STRIPE'),
  },
  {
    name: 'palette-nothing-found',
    seed: 'team',
    path: 'secrets',
    prepare: (scene) => search(scene, 'zzzz'),
  },
  {
    name: 'read-only-role',
    seed: 'team',
    role: 'read_only',
    path: 'secrets',
  },
  {
    name: 'longer-texts',
    seed: 'team',
    path: 'secrets',
    prepare: ({ page }) => page.evaluate(lengthenTexts),
  },
  { name: 'zoomed', seed: 'team', path: 'secrets', isZoomed: true },
  { name: 'forced-colors', seed: 'team', path: 'secrets', hasForcedColors: true },
]
