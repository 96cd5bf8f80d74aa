import { type Account, AnswerOnce } from '@adoption-store/domain';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { formToken } from '../http/csrf.js';
import { redirect } from '../http/notices.js';

/**
 * A reload or a second click sends the form again and must not make another key. Each form has its own CSRF token,
 * which identifies a form that was already sent.
 */
@Injectable()
export class FormOnce {
  constructor(private readonly answerOnce: AnswerOnce) {}

  /** Redirects to the keys, and returns false, if this form was sent before. */
  async isFirst(reply: FastifyReply, { id: accountId }: Account): Promise<boolean> {
    const form = { accountId, key: `form ${formToken(reply.request)}`, fingerprint: 'form' };
    const { isReplay } = await this.answerOnce.execute(form, () => Promise.resolve('sent'));
    if (isReplay) redirect(reply, '/keys', 'form-sent-before');
    return !isReplay;
  }
}
