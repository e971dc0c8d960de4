/** A link to another screen, drawn as a button. */
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, Ref } from 'react'
import { type ButtonLook, ButtonText, buttonClass } from './button.tsx'

type Props = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'className' | 'style'> &
  ButtonLook & { ref?: Ref<HTMLAnchorElement> }

function ButtonAnchor({ kind, size, icon, isFull, shortcut, children, ...props }: Props) {
  return (
    <a {...props} className={buttonClass({ kind, size, isFull })}>
      <ButtonText icon={icon} shortcut={shortcut}>
        {children}
      </ButtonText>
    </a>
  )
}

export const LinkButton = createLink(ButtonAnchor)
