/** Lock and log out: by a button, from the palette, and Lock by keys that work on every screen. */
import { useEffect, useMemo } from 'react'
import { Button } from '../parts/button.tsx'
import { usePaletteCommands } from '../parts/overlays/command_palette.tsx'
import { useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'

const words = texts.common

export function WaysOut() {
  const { mutate: lock } = useCommand('accounts.lock')
  const { mutate: logOut } = useCommand('accounts.logOut')
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey && event.shiftKey && event.code === 'KeyL')) return
      event.preventDefault()
      lock(null)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [lock])
  const commands = useMemo(
    () => [
      { id: 'lock', label: words.lockByKeys, act: () => lock(null) },
      { id: 'log-out', label: words.logOut, act: () => logOut(null) },
    ],
    [lock, logOut],
  )
  usePaletteCommands(commands)
  return (
    <>
      <Button kind="quiet" aria-keyshortcuts="Control+Shift+L" onPress={() => lock(null)}>
        {words.lock}
      </Button>
      <Button kind="quiet" onPress={() => logOut(null)}>
        {words.logOut}
      </Button>
    </>
  )
}
