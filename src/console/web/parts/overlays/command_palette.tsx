/** Ctrl+K (⌘K): what can be done from here, found by typing. Screens add what they can do while they are shown. */
import { useEffect, useState } from 'react'
import { Autocomplete, Input, Menu, MenuItem, SearchField, useFilter } from 'react-aria-components'
import { texts } from '../../texts/index.ts'
import { Button } from '../button.tsx'
import { Dialog } from './dialog.tsx'

export type PaletteCommand = { id: string; label: string; act(): void }

const added = new Set<readonly PaletteCommand[]>()

/** Adds commands as long as the component is shown; give it the same array each time. */
export function usePaletteCommands(commands: readonly PaletteCommand[]): void {
  useEffect(() => {
    added.add(commands)
    return () => {
      added.delete(commands)
    }
  }, [commands])
}

export function CommandPalette() {
  const [isOpen, setOpen] = useState(false)
  const { contains } = useFilter({ sensitivity: 'base' })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen((open) => !open)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const words = texts.common
  const close = () => setOpen(false)
  return (
    <>
      <Button kind="ghost" aria-keyshortcuts="Control+K Meta+K" onPress={() => setOpen(true)}>
        {words.paletteOpen}
      </Button>
      <Dialog title={words.palette} isOpen={isOpen} onClose={close}>
        <Autocomplete filter={contains}>
          <SearchField aria-label={words.paletteFind} autoFocus className="field">
            <Input className="input" placeholder={words.paletteFind} />
          </SearchField>
          <Menu
            aria-label={words.palette}
            className="choices"
            renderEmptyState={() => <p className="soft">{words.paletteNothing}</p>}
          >
            {[...added].flat().map(({ id, label, act }) => (
              <MenuItem
                key={id}
                id={id}
                textValue={label}
                className="choice"
                onAction={() => {
                  close()
                  act()
                }}
              >
                {label}
              </MenuItem>
            ))}
          </Menu>
        </Autocomplete>
      </Dialog>
    </>
  )
}
