/** Ctrl+K (⌘K) opens the palette, which is loaded then. */
import { lazy, Suspense, useEffect } from 'react'
import { togglePalette, usePaletteOpen } from '../palette_state.ts'
import { useRecentPlaces } from './recent.ts'

const PaletteBox = lazy(() => import('./box.tsx'))

export function CommandPalette() {
  const isOpen = usePaletteOpen()
  const recent = useRecentPlaces()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      togglePalette()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return <Suspense>{isOpen ? <PaletteBox recent={recent} /> : null}</Suspense>
}
