import { type Account, AnswerOnce } from '@adoption-store/domain';
import { Injectable } from '@nestjs/common';
import type { Form } from '../http/forms.js';

/**
 * A reload or a second click sends the form again and must not make another key. Each form has its own CSRF token,
 * which identifies a form that was already sent.
 */
@Injectable()
export class FormOnce {
  constructor(private readonly answerOnce: AnswerOnce) {}

  async isFirst({ token }: Form, { id: accountId }: Account): Promise<boolean> {
    const form = { accountId, key: `form ${token}`, fingerprint: 'form' };
    const { isReplay } = await this.answerOnce.execute(form, () => Promise.resolve('sent'));
    return !isReplay;
  }
}
