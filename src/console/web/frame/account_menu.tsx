/** The account menu: the user, the time until the keys lock, and actions for both. */
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { BookOpen, Ellipsis, Lock, LogOut, Server, SunMoon, UserRound } from 'lucide-react'
import { useCallback, useEffect, useMemo, useReducer, useState } from 'react'
import { Button as AriaButton } from 'react-aria-components'
import { getMe } from '../../../features/accounts/contract.ts'
import { api } from '../api.ts'
import { Icon } from '../parts/icon.tsx'
import { MenuAround } from '../parts/overlays/menu.tsx'
import { Avatar } from '../parts/show/avatar.tsx'
import { chooseTheme, readChosenTheme, themes } from '../parts/theme.ts'
import { recordLock } from '../passkeys/prompting.ts'
import { useAccountState, useCommand } from '../queries.ts'
import { texts } from '../texts/index.ts'
import { IDLE_MS, lastActivity } from './activity.ts'
import { usePaletteCommands } from './palette_state.ts'

const words = texts.common

export function AccountMenu({ email }: { email: string }) {
  const choices = useAccountChoices()
  return (
    <div className="flex items-center gap-2.5 border-t border-line px-3 py-2.5">
      <Avatar name={email} />
      <div className="min-w-0 flex-1">
        <div className="truncate" title={email}>
          {email.split('@')[0]}
        </div>
        <UnlockedFor />
      </div>
      <MenuAround
        label={words.accountMenu}
        choices={choices}
        trigger={
          <AriaButton className="rounded-control p-1 text-ink-3 hovered:bg-hover hovered:text-ink">
            <Icon of={Ellipsis} />
          </AriaButton>
        }
      />
    </div>
  )
}

const LOOK_MS = 15_000
const MINUTE_MS = 60_000

function UnlockedFor() {
  const account = useAccountState()
  const active = lastActivity.useValue()
  const [, look] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const looking = setInterval(look, LOOK_MS)
    return () => clearInterval(looking)
  }, [])
  if (account?.kind !== 'open') return null
  const ms = (account.until ?? active + IDLE_MS) - Date.now()
  return (
    <div className="flex items-center gap-1 text-caption leading-[14px] text-ink-3">
      <span aria-hidden="true" className="size-1.5 shrink-0 rounded-full bg-green-solid" />
      <span className="truncate">{words.unlockedFor(Math.max(0, Math.floor(ms / MINUTE_MS)))}</span>
    </div>
  )
}

/** Shows the current theme, and switches to the next one. */
export function useAccountChoices() {
  const navigate = useNavigate()
  const { mutate } = useCommand('accounts.lock')
  const lock = useCallback(() => {
    recordLock()
    mutate(null)
  }, [mutate])
  const { mutate: signOut } = useCommand('accounts.logOut')
  const [theme, setTheme] = useState(readChosenTheme)
  const { data: me } = useQuery({ queryKey: ['me'], queryFn: () => api.call(getMe, {}) })
  useLockKeys(lock)
  const choices = useMemo(
    () => [
      {
        id: 'lock',
        label: words.lock,
        icon: Lock,
        shortcut: words.lockKeys,
        act: lock,
      },
      {
        id: 'account',
        label: words.areas.account,
        icon: UserRound,
        group: 'places' as const,
        act: () => void navigate({ to: '/account' }),
      },
      ...(me?.is_instance_owner
        ? [
            {
              id: 'instance',
              label: words.areas.instance,
              icon: Server,
              group: 'places' as const,
              act: () => void navigate({ to: '/instance' }),
            },
          ]
        : []),
      {
        id: 'theme',
        label: words.themes[theme],
        icon: SunMoon,
        act: () => {
          const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
          chooseTheme(next)
          setTheme(next)
        },
      },
      {
        id: 'documentation',
        label: words.documentation,
        icon: BookOpen,
        group: 'places' as const,
        act: () => void open('/docs/', '_blank', 'noopener'),
      },
      { id: 'sign out', label: words.signOut, icon: LogOut, act: () => signOut(null) },
    ],
    [me, theme, lock, signOut, navigate],
  )
  usePaletteCommands(choices)
  return choices
}

function useLockKeys(lock: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey && event.shiftKey && event.code === 'KeyL')) return
      event.preventDefault()
      lock()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [lock])
}
