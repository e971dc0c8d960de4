/** A new password. The field explains why a weak password is rejected, like the command line. */
import { useEffect, useState } from 'react'
import { ask } from '../../keys/ask.ts'
import { texts } from '../../texts/index.ts'
import { TextField } from './text_field.tsx'

const TYPING_MS = 250

type Props = {
  label: string
  help?: string
  email: string
  value: string
  onChange(value: string): void
  /** Called with each result. Null until the password is judged. */
  onJudged(isStrong: boolean | null): void
}

export function PasswordField({ label, help, email, value, onChange, onJudged }: Props) {
  const [weakness, setWeakness] = useState<string | null>(null)
  useEffect(() => {
    onJudged(null)
    setWeakness(null)
    if (value === '') return
    let isLate = false
    const judge = setTimeout(async () => {
      const found = await ask('accounts.weakness', { email, password: value })
      if (isLate) return
      setWeakness(found)
      onJudged(found === null)
    }, TYPING_MS)
    return () => {
      isLate = true
      clearTimeout(judge)
    }
  }, [email, value, onJudged])
  const advice = weakness ? texts.common.weak(weakness) : undefined
  return (
    <TextField
      label={label}
      type="password"
      autoComplete="new-password"
      isRequired
      value={value}
      onChange={onChange}
      error={advice}
      {...(help ? { help } : {})}
    />
  )
}
