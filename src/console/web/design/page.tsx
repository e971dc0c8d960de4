/** All groups of parts, in light or dark. */
import { useState } from 'react'
import { Segmented } from '../parts/fields/segmented.tsx'
import { Controls } from './controls.tsx'
import { Fields } from './fields.tsx'
import { Overlays } from './overlays.tsx'
import { PageParts } from './page_parts.tsx'
import { PagePatterns } from './patterns.tsx'
import { ShownParts } from './shown.tsx'

const THEMES = [
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const

export function DesignPage() {
  const [theme, setTheme] = useState<'light' | 'dark'>('light')
  const choose = (chosen: 'light' | 'dark') => {
    document.documentElement.dataset.theme = chosen
    setTheme(chosen)
  }
  return (
    <main className="mx-auto flex max-w-300 flex-col gap-8 px-5 py-6 phone:px-4">
      <header className="flex flex-wrap items-center justify-between gap-4">
        <h1 className="text-display font-semibold">Parts of the console</h1>
        <Segmented label="Theme" options={THEMES} value={theme} onChange={choose} />
      </header>
      <Controls />
      <Fields />
      <Overlays />
      <ShownParts />
      <PageParts />
      <PagePatterns />
    </main>
  )
}
