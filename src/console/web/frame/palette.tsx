/** Ctrl+K (⌘K): finds what can be done from here. */
import { useEffect } from 'react'
import { Autocomplete, Input, Menu, MenuItem, SearchField, useFilter } from 'react-aria-components'
import { Icon } from '../parts/icon.tsx'
import { Dialog } from '../parts/overlays/dialog.tsx'
import { texts } from '../texts/index.ts'
import { closePalette, paletteCommands, togglePalette, usePaletteOpen } from './palette_state.ts'

const words = texts.common

export function CommandPalette() {
  const isOpen = usePaletteOpen()
  const { contains } = useFilter({ sensitivity: 'base' })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      togglePalette()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <Dialog title={words.palette} isOpen={isOpen} onClose={closePalette}>
      <Autocomplete filter={contains}>
        <SearchField aria-label={words.paletteFind} autoFocus className="flex flex-col">
          <Input
            className="h-8 rounded-control border border-control bg-surface px-2.5"
            placeholder={words.paletteFind}
          />
        </SearchField>
        <Menu
          aria-label={words.palette}
          className="max-h-[50vh] overflow-auto outline-none"
          renderEmptyState={() => <p className="px-2 py-3 text-ink-3">{words.paletteNothing}</p>}
        >
          {paletteCommands().map(({ id, label, icon, act }) => (
            <MenuItem
              key={id}
              id={id}
              textValue={label}
              className="flex h-8 items-center gap-2 rounded-control px-2 data-[focused]:bg-surface-2"
              onAction={() => {
                closePalette()
                act()
              }}
            >
              {icon ? <Icon of={icon} /> : null}
              {label}
            </MenuItem>
          ))}
        </Menu>
      </Autocomplete>
    </Dialog>
  )
}
